import {
  compileSafety,
  defaultSafety,
  type Guarded,
  type Safety,
  type SafetyOptions,
  type SafetySettings,
  type SecretRule,
} from '@meup/safety'

/** Rules for invented shapes, which no built-in rule matches. */
export const ownRules = [
  { name: 'own-token', pattern: '\\bZk_[A-Za-z0-9]{24}\\b', keywords: ['zk_'], action: 'mask' },
  { name: 'own-long', pattern: '\\bzl-[A-Za-z0-9]{20,60}', keywords: ['zl-'], action: 'mask' },
  {
    name: 'own-phrase',
    pattern: '(?i)\\bphrase\\s{0,3}[:=]\\s{0,3}["\']?(?P<secret>[^\\s"\',;]{6,60})',
    keywords: ['phrase'],
    action: 'mask',
    generic: true,
  },
  {
    name: 'own-address',
    pattern: '\\bzdb://[^\\s:/@]{1,60}:(?P<secret>[^\\s:/@]{1,60})@',
    keywords: ['zdb://'],
    action: 'mask',
  },
  { name: 'own-blocked', pattern: '\\bzx-[0-9]{12}\\b', keywords: ['zx-'], action: 'block' },
] satisfies SecretRule[]

export const token = 'Zk_aB3dE5gH7jK9mN1pQ3sT5vX7'
export const long = 'zl-4fG6hJ8kL0zX2cV4bN6mQ8wE1rT3yU5'

export const gate = (settings: Partial<SafetySettings> = {}, options: SafetyOptions = {}): Safety =>
  compileSafety({ ...defaultSafety, rules: ownRules, ...settings }, options)

export const seen = (guarded: Guarded): string => guarded.text

export const percent = (text: string): string =>
  Array.from(text, (each) => `%${each.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

export const base64url = (text: string): string =>
  btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** Ways to disguise a text so that a reader can still restore it. */
export const disguises: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  'with zero-width spaces': (text) => [...text].join('\u200b'),
  'with soft hyphens and marks of direction': (text) => [...text].join('\u00ad\u200e'),
  'with accents': (text) => [...text].join('\u0301'),
  'in full width': (text) =>
    text.replace(/[!-~]/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0)),
  'in mathematical letters': (text) =>
    text.replace(/[A-Z]/g, (each) => String.fromCodePoint(0x1d400 + each.charCodeAt(0) - 65)),
  'in percent': percent,
  'in percent, every other character': (text) =>
    Array.from(text, (each, index) => (index % 2 === 0 ? each : percent(each))).join(''),
  'in percent of percent': (text) => percent(percent(text)),
  'in base64': btoa,
  'in base64 without padding': (text) => btoa(text).replaceAll('=', ''),
  'in base64 for addresses': base64url,
  'in base64 of base64': (text) => btoa(btoa(text)),
  'in percent of base64': (text) => percent(btoa(text)),
  'in base64 of percent': (text) => btoa(percent(text)),
  'in base64 with zero-width spaces': (text) => [...btoa(text)].join('\u200b'),
  'in base64 over lines': (text) => btoa(text).replace(/.{20}/g, '$&\n  '),
}
