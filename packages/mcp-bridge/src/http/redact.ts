/** Shorter words of a header are no secrets, and would be found in any text. */
const SHORTEST_SECRET = 8

/** Hides what headers hold from text that is logged: a server may quote what it was sent. */
export function redactor(headers: Readonly<Record<string, string>>): (text: string) => string {
  const words = Object.values(headers).flatMap((value) => value.trim().split(/\s+/))
  const secrets = words.filter((word) => word.length >= SHORTEST_SECRET)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
