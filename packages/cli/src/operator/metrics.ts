/** What a gateway answers at `/metrics`, read from the text that Prometheus reads. */
export class Metrics {
  readonly #values: readonly { readonly name: string; readonly labels: string; readonly value: number }[]

  constructor(text: string) {
    const lines = text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)
    this.#values = [...lines].map(([, name = '', labels = '', value]) => ({
      name,
      labels,
      value: Number(value),
    }))
  }

  /** Names of the spaces, in the order of the gateway. */
  get spaces(): string[] {
    const ready = this.#values.filter(({ name }) => name === 'meup_space_ready')
    return ready.map(({ labels }) => readLabel(labels, 'space'))
  }

  /** The sum of the values of a metric, of one space where that is given. */
  sum(name: string, space?: string): number {
    return this.#find(name, space).reduce((sum, { value }) => sum + value, 0)
  }

  /** The values of a metric of a space by one of its labels, the largest first. */
  by(label: string, name: string, space: string): Record<string, number> {
    const found = this.#find(name, space).map(
      ({ labels, value }) => [readLabel(labels, label), value] as const,
    )
    return Object.fromEntries(found.sort(([, one], [, other]) => other - one))
  }

  #find(name: string, space: string | undefined) {
    return this.#values.filter(
      (each) => each.name === name && (space === undefined || readLabel(each.labels, 'space') === space),
    )
  }
}

/** The names of spaces, classes and codes need no escapes. */
const readLabel = (labels: string, name: string): string =>
  new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
