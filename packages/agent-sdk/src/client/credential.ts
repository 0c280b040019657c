import { invalidCredentialError } from './errors.js'

/** Characters allowed in an HTTP header. Checked here, because the platform's error would quote the whole credential. */
const isHeaderSafe = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text)

/**
 * Prepares a token or key for a header: removes a trailing line break, as in files. Throws `ConnectionError` `not_configured`,
 * which does not quote the credential; `name`: its name in that message.
 */
export function readCredential(text: string, name: string): string {
  const trimmed = text.trim()
  if (isHeaderSafe(trimmed)) return trimmed
  throw invalidCredentialError(name)
}
