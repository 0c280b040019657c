/** A promise with the functions that settle it. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>
  resolve(value: Value): void
  reject(error: Error): void
}

export function deferred<Value = void>(): Deferred<Value> {
  let settlers: Pick<Deferred<Value>, 'resolve' | 'reject'> | undefined
  const promise = new Promise<Value>((resolve, reject) => {
    settlers = { resolve, reject }
  })
  if (settlers === undefined) throw new Error('a promise runs its executor at once')
  return { promise, ...settlers }
}
