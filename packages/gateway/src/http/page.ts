import type { Context } from 'hono'
import { accepts } from 'hono/accepts'

/** A static file of the page. */
export interface PageFile {
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
  /** The content compressed with gzip, on the first call. */
  gzipped(): Promise<Uint8Array<ArrayBuffer>>
  /** Whether the file's name changes with its content. */
  readonly isHashed: boolean
}

/** Files by path, such as `/` and `/assets/page-1a2b.js`. No other path is served. */
export type PageFiles = ReadonlyMap<string, PageFile>

/** Only scripts of the page run, it connects only to its own gateway, and no text can become a script. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Images in results are shown from bytes that the page already has.
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const guarded = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

/** `GET /` and the other files of the page [MEUP-11.8]. */
export async function getPageFile(
  context: Context,
  { type, body, gzipped, isHashed }: PageFile,
): Promise<Response> {
  const supports = ['gzip', 'identity']
  const encoding = accepts(context, { header: 'Accept-Encoding', supports, default: 'identity' })
  const isGzipped = encoding === 'gzip'
  return new Response(isGzipped ? await gzipped() : body, {
    headers: {
      ...guarded,
      'content-type': type,
      'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      ...(isGzipped && { 'content-encoding': 'gzip' }),
    },
  })
}
