import { ConnectionError } from './errors.js'

/** Characters that an HTTP header may contain; the platform's error would quote the whole value. */
const isHeaderSafe = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text)

/**
 * A token or key that can be sent in a header, without the trailing line break of files and shells. Throws `ConnectionError`
 * `not_configured`, which does not quote it; `name`: its name in that message.
 */
export function readCredential(text: string, name: string): string {
  const trimmed = text.trim()
  if (isHeaderSafe(trimmed)) return trimmed
  const problem = 'has a line break or another character that an HTTP header cannot hold'
  throw new ConnectionError(
    'not_configured',
    `the ${name} ${problem}; check that it was copied whole, and alone`,
    { details: { option: name } },
  )
}
