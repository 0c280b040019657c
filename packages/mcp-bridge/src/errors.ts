export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** An error of the operating system, or of node in its manner: with a `code` such as `ENOENT`. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error
}
