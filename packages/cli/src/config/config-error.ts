/** A mistake in the file. Lines and columns count from 1; both are 0 if the file could not be read. */
export interface ConfigProblem {
  readonly line: number
  readonly column: number
  /** Keys from the root, such as `participants.ana.kind`; empty if no single key is affected. */
  readonly path: string
  readonly message: string
}

/** All mistakes in a configuration file, in the order of its lines. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(file: string, problems: readonly ConfigProblem[], options?: ErrorOptions) {
    const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column)
    super(sorted.map((problem) => render(file, problem)).join('\n'), options)
    this.problems = sorted
  }
}

function render(file: string, { line, column, path, message }: ConfigProblem): string {
  const place = line === 0 ? `${file}:` : `${file}:${line}:${column}`
  return path === '' ? `${place} ${message}` : `${place} ${path}: ${message}`
}
