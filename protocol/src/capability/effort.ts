/** Steps that one check may take, whatever patterns and texts meet in it; at 10 ns each at worst, 20 ms. */
const mostSteps = 2 ** 21

let left = 0

/** A check begins: it has all its steps before it. Checks do not overlap. */
export function beginCheck(): void {
  left = mostSteps
}

/** Whether the check may take so many steps more. */
export function mayTake(steps: number): boolean {
  left -= steps
  return left >= 0
}
