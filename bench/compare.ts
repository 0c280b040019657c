import { Bench } from 'tinybench'

/**
 * Measures in one run, so that the ratios hold whatever the machine does meanwhile. The first one is the unit. `batch` is
 * how often a measurement calls what it measures: the clock itself takes as long as the quickest of them.
 */
export async function compare(
  title: string,
  tasks: readonly (readonly [string, () => unknown])[],
  batch = 100,
): Promise<void> {
  const bench = new Bench({ time: 500, warmupTime: 200 })
  for (const [name, run] of tasks) {
    bench.add(name, () => {
      for (let i = 0; i < batch; i++) run()
    })
  }
  await bench.run()
  console.log(`\n${title}`)
  let unit: number | undefined
  for (const task of bench.tasks) {
    const { result } = task
    if (result.state !== 'completed') throw new Error(`${task.name} did not complete`, { cause: result })
    const ns = result.latency.p50 * (1e6 / batch)
    unit ??= ns
    console.log(
      `${task.name.padEnd(48)} ${ns.toFixed(0).padStart(10)} ns   ${(ns / unit).toFixed(2).padStart(6)} x`,
    )
  }
}
