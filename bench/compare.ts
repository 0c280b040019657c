import { Bench } from 'tinybench'

type Tasks = readonly (readonly [name: string, run: () => unknown])[]

interface Times {
  /** Number of calls per measurement. The fastest tasks take as long as reading the clock, so one call cannot be measured. */
  readonly batch: number
  /** Milliseconds to measure each task, after `warmMs` milliseconds of warm-up. */
  readonly ms?: number
  readonly warmMs?: number
  /** Calls each task once instead of measuring it. */
  readonly smoke?: boolean
}

/** Measures tasks in one run. Returns the median nanoseconds of each. */
export async function measureTasks(
  tasks: Tasks,
  { batch, ms = 500, warmMs = 200, smoke = false }: Times,
): Promise<{ name: string; ns: number }[]> {
  const [iterations, warmupIterations] = smoke ? [1, 1] : [10, 2]
  const bench = new Bench({ time: ms, warmupTime: warmMs, iterations, warmupIterations })
  for (const [name, run] of tasks) {
    bench.add(name, () => {
      for (let i = 0; i < batch; i++) run()
    })
  }
  await bench.run()
  return bench.tasks.map(({ name, result }) => {
    if (result.state !== 'completed') throw new Error(`${name} did not complete`, { cause: result })
    return { name, ns: result.latency.p50 * (1e6 / batch) }
  })
}

/** Prints the time of each task, and its ratio to the first. The ratios are independent of other load on the machine. */
export async function compare(title: string, tasks: Tasks, batch = 100): Promise<void> {
  const measured = await measureTasks(tasks, { batch })
  const [{ ns: unit } = { ns: Number.NaN }] = measured
  console.log(`\n${title}`)
  for (const { name, ns } of measured) {
    console.log(
      `${name.padEnd(48)} ${ns.toFixed(0).padStart(10)} ns   ${(ns / unit).toFixed(2).padStart(6)} x`,
    )
  }
}
