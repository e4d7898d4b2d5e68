// Command codingmem measures how well memories of coding agents are found again. See docs/MEMORY_BENCHMARK.md.
package main

func main() {}
