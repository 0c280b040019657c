import { Bench } from 'tinybench'

type Tasks = readonly (readonly [name: string, run: () => unknown])[]

interface Times {
  /** How often a measurement calls what it measures: the clock itself takes as long as the quickest of them. */
  readonly batch: number
  /** Milliseconds for each, after as many of warming up as `warmMs`. */
  readonly ms?: number
  readonly warmMs?: number
  /** Tries each once instead of measuring it. */
  readonly smoke?: boolean
}

/** Median nanoseconds of each, measured in one run. */
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

/** Prints what each takes, and how that compares with the first: ratios hold whatever else the machine does. */
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
