#!/bin/sh
# On a machine with a GPU: on-gpu.sh BUILD [CC] makes objects with BUILD/bin/tkc and runs them against NVIDIA's driver, on the CPU as well. Run in the project's folder. The last
# line of each program is `0 failed`; what is refused on purpose is printed above it.
set -e
tkc=$(realpath "$1")/bin/tkc
cc=${2:-cc}
inputs=$(realpath "$(dirname "$0")")
samples=$(realpath samples)
cd "$(mktemp -d)"
targets=x86-64-v3,x86-64-v4,sm_80,sm_90a
"$tkc" compile "$samples/vector_add.tk" --target $targets --signature '*fp32:16, *fp32:16, *fp32:16, i32:16, BLOCK=1024' --signature '*fp32, *fp32, *fp32, i32, BLOCK=1024' -o vector_add.o --header vector_add.h
"$tkc" compile "$samples/softmax.tk" --target $targets --signature '*fp32, *fp32, i32, i32, i32, BLOCK=256' -o softmax.o --header softmax.h
"$tkc" compile "$samples/matmul.tk" --target $targets --signature '*fp32, *fp32, *fp32, i32, i32, i32, i32, 1, i32, 1, i32, 1, BLOCK_M=16, BLOCK_N=32, BLOCK_K=32, GROUP_M=4, num_warps=2' --signature '*fp32, *fp32, *fp32, i32, i32, i32, i32, i32, i32, i32, i32, i32, 32, 32, 32, 4' -o matmul.o --header matmul.h
cat vector_add.h softmax.h matmul.h >kernels.h
"$cc" -std=c99 -D_GNU_SOURCE -I. -I"$inputs" "$inputs/samples.c" vector_add.o softmax.o matmul.o -lm -o samples
"$cc" -std=c99 -D_GNU_SOURCE -I. -I"$inputs" "$inputs/driver.c" vector_add.o -lm -o driver
echo "== CPU" && ./samples
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)
echo "== GPU of compute capability $capability" && ./samples "$capability"
echo "== threads and graphs" && ./driver "$capability"
