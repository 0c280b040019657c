import { draw, type Value } from '../grammar.js'
import type { Random } from '../random.js'
import { familiesOf } from './family.js'

/** Makes a PEM block. Its body begins as the format requires, and all lines of the body are secret. */
function block(label: string, beginning: string, lines: readonly [number, number], random: Random): Value {
  const full = Array.from({ length: random.integer(...lines) }, () => '{base64:64}')
  const body = [`${beginning}{base64:${64 - beginning.length}}`, ...full, '{base64:30}==']
  const { text, secrets } = draw(body.join('\n'), random)
  const edge = (word: string): string => `-----${word} ${label}-----`
  return { text: [edge('BEGIN'), text, edge('END')].join('\n'), secrets }
}

const pem = (label: string, beginning: string, least: number, maximum: number) => (random: Random) =>
  block(label, beginning, [least, maximum], random)

const rsa = pem('RSA PRIVATE KEY', 'MIIEpAIBAAKCAQEA', 8, 24)

/** Inserts headers between the first line and the body. */
const withHeaders =
  (headers: string, make: (random: Random) => Value) =>
  (random: Random): Value => {
    const { text, secrets } = make(random)
    return { text: text.replace('\n', `\n${draw(headers, random).text}\n\n`), secrets }
  }

const blocks = familiesOf('key', 'lines', {
  'rsa-private-key': [rsa, 'rsa private key', 'signing key'],
  'encrypted-rsa-key': [
    withHeaders('Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,<HEX:32>', rsa),
    'tls private key',
    'server key',
  ],
  'ec-private-key': [pem('EC PRIVATE KEY', 'MHcCAQEEI', 1, 2), 'ec private key', 'jwt signing key'],
  'pkcs8-private-key': [
    pem('PRIVATE KEY', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 8, 24),
    'tls key',
    'private key',
  ],
  'openssh-private-key': [
    pem('OPENSSH PRIVATE KEY', 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ', 4, 30),
    'ssh private key',
    'deploy key',
  ],
  'pgp-private-key': [
    withHeaders('Version: GnuPG v2', pem('PGP PRIVATE KEY BLOCK', 'lQdGBF', 8, 30)),
    'gpg private key',
    'signing key',
  ],
})

function jwt(random: Random): Value {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const header = part({ alg: 'HS256', typ: 'JWT' })
  const sub = random.characters('0123456789', 10)
  const payload = part({ sub, name: 'Service', iat: random.integer(1_700_000_000, 1_800_000_000) })
  return draw(`${header}.${payload}.{url:43}`, random)
}

function encodedKey(random: Random): Value {
  const { text } = rsa(random)
  const encoded = Buffer.from(text).toString('base64')
  // The first 70 characters encode the header and the fixed beginning of the body, which are public.
  return { text: encoded, secrets: [encoded.slice(70)] }
}

function basic(random: Random): Value {
  const user = random.pick(['admin', 'deploy', 'api', 'jenkins'])
  const encoded = Buffer.from(`${user}:${draw('{symbols:14-20}', random).text}`).toString('base64')
  return { text: encoded, secrets: [encoded.slice(Math.ceil((user.length + 1) / 3) * 4)] }
}

const tokens = familiesOf('key', 'token', {
  'json-web-token': [jwt, 'vendor jwt', 'app id token', 'vendor access token'],
  'encoded-private-key': [encodedKey, 'tls key', 'ssh private key base64'],
  'basic-credentials': [basic, 'vendor basic auth', 'registry auth'],
  'age-key': ['AGE-SECRET-KEY-1{BASE36:58}', 'sops age key', 'age secret key'],
  'wireguard-key': ['{base64:43}=', 'wireguard private key', 'wg preshared key'],
  'totp-seed': ['{base32:32}', 'admin totp secret', 'app mfa secret', 'app otp seed'],
})

/** Secrets that frameworks use to sign and encrypt. */
const frameworks = familiesOf('framework', 'token', {
  'rails-secret': ['{hex:128}', 'rails secret key base', 'app secret key base'],
  'rails-master-key': ['{hex:32}', 'rails master key'],
  'django-secret': ['{symbols:50}', 'django secret key'],
  'laravel-key': ['base64:{base64:43}=', 'app key'],
  'jwt-secret': [['{hex:64}', '{base64:43}=', '{base62:48}'], 'jwt secret', 'app jwt secret key'],
  'session-secret': [['{hex:64}', '{base62:32}', '{base64:43}='], 'session secret', 'cookie secret'],
  'encryption-key': [
    ['{hex:64}', '{base64:43}='],
    'app encryption key',
    'data encryption key',
    'vault unseal key',
  ],
  'hmac-secret': [['{hex:40}', '{hex:64}'], 'webhook signing secret', 'webhook secret', 'hmac secret'],
})

export const keys = [...blocks, ...tokens, ...frameworks]
