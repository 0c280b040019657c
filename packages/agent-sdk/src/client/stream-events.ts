interface Closing {
  readonly ended: { readonly error: Error | undefined } | undefined
  on(event: 'closed', listener: (error: Error | undefined) => void): unknown
  off(event: 'closed', listener: (error: Error | undefined) => void): unknown
}

/**
 * Iterates over pushed values, and queues them in between. Ends when the source is closed; throws if an error closed it. Stops
 * listening when the loop is left.
 */
export function streamEvents<Value>(source: Closing, listen: (push: (value: Value) => void) => () => void) {
  const values: Value[] = []
  let wake: (() => void) | undefined
  let over = source.ended
  const closed = (error: Error | undefined): void => {
    over = { error }
    wake?.()
  }
  const stop = listen((value) => {
    values.push(value)
    wake?.()
  })
  source.on('closed', closed)

  async function* iterate(): AsyncGenerator<Value, void> {
    try {
      for (;;) {
        while (values.length > 0) yield values.shift() as Value
        if (over?.error !== undefined) throw over.error
        if (over !== undefined) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      stop()
      source.off('closed', closed)
    }
  }
  return iterate()
}
