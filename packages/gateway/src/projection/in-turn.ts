/** Carries tasks out one after another, whatever becomes of each. */
export type InTurn = <Result>(task: () => Promise<Result>) => Promise<Result>

export function inTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const done = last.then(task)
    // Whoever gave the task hears of its failure.
    last = done.catch(() => {})
    return done
  }
}
