import { type Family, familiesOf, type Table } from './family.js'

/** Shapes of credentials whose format is not published. */
const shapes = {
  hex: ['{hex:32}', '{hex:40}', '{hex:64}'],
  base62: ['{base62:20-24}', '{base62:32}', '{base62:40-48}'],
  base64: ['{base64:27}=', '{base64:43}=', '{base64:86}==', '{url:43}'],
  prefixed: [
    '<lower:2-4>_{base62:24-40}',
    '<lower:3>_live_{base62:24-32}',
    '<lower:2>-{hex:32}',
    '<lower:2>.v1_{url:32}',
  ],
}
const nouns = ['key', 'token', 'secret', 'api key', 'access token', 'client secret', 'auth token']

const table: Table = Object.fromEntries(
  nouns.flatMap((noun) =>
    Object.entries(shapes).map(
      ([shape, grammar]) =>
        [`vendor-${noun.replace(' ', '-')}-${shape}`, [grammar, `vendor ${noun}`]] as const,
    ),
  ),
)

/** Credentials of unknown vendors: only the name of the variable identifies them. */
export const vendors: readonly Family[] = familiesOf('vendor', 'token', {
  ...table,
  'vendor-key-uuid': ['{uuid}', 'vendor key', 'vendor api key', 'vendor license key'],
  'vendor-token-uuid': ['{uuid}', 'vendor token', 'vendor device token'],
  'vendor-credential': [['{base62:32}', '{hex:40}'], 'vendor credential', 'vendor pat', 'vendor app secret'],
})
