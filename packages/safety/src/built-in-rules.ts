import aws from './rules/aws.json' with { type: 'json' }
import azure from './rules/azure.json' with { type: 'json' }
import chat from './rules/chat.json' with { type: 'json' }
import ci from './rules/ci.json' with { type: 'json' }
import cloud from './rules/cloud.json' with { type: 'json' }
import databases from './rules/databases.json' with { type: 'json' }
import google from './rules/google.json' with { type: 'json' }
import http from './rules/http.json' with { type: 'json' }
import infrastructure from './rules/infrastructure.json' with { type: 'json' }
import keys from './rules/keys.json' with { type: 'json' }
import mail from './rules/mail.json' with { type: 'json' }
import models from './rules/models.json' with { type: 'json' }
import monitoring from './rules/monitoring.json' with { type: 'json' }
import passwordNotations from './rules/password-notations.json' with { type: 'json' }
import passwords from './rules/passwords.json' with { type: 'json' }
import payment from './rules/payment.json' with { type: 'json' }
import registries from './rules/registries.json' with { type: 'json' }
import saas from './rules/saas.json' with { type: 'json' }
import social from './rules/social.json' with { type: 'json' }
import sourceHosting from './rules/source-hosting.json' with { type: 'json' }
import tokens from './rules/tokens.json' with { type: 'json' }
import type { SecretRule } from './settings.js'

/** A rule of this package. */
export interface BuiltInRule extends SecretRule {
  /**
   * A regular expression of JavaScript that takes linear time and ignores case. Each match of the pattern, read from its
   * beginning, has a match of this; so does each text that such a match is in, unless it begins with `^`, which it only does
   * in rules whose pattern says how a match begins. It tells of most texts, sooner than RE2, that there is no match.
   */
  readonly needs?: string
}

/** As the files have it, beside examples of what it finds and leaves alone. */
interface RuleData {
  readonly name: string
  readonly pattern: string
  readonly needs?: string | undefined
  readonly keywords?: readonly string[] | undefined
  readonly action: string
  readonly generic?: boolean | undefined
  readonly positives: readonly string[]
}

const ruleOf = ({ name, pattern, needs, keywords, action, generic }: RuleData): BuiltInRule => ({
  name,
  pattern,
  action: action === 'block' ? 'block' : 'mask',
  ...(needs !== undefined && { needs }),
  ...(keywords !== undefined && { keywords }),
  ...(generic !== undefined && { generic }),
})

const files: readonly RuleData[] = [
  ...aws,
  ...azure,
  ...chat,
  ...ci,
  ...cloud,
  ...google,
  ...infrastructure,
  ...keys,
  ...mail,
  ...models,
  ...monitoring,
  ...payment,
  ...registries,
  ...saas,
  ...social,
  ...sourceHosting,
  ...databases,
  ...http,
  ...tokens,
  ...passwords,
  ...passwordNotations,
]

/** What this package knows of secrets; what tells them by their own shape stands before what needs a label. */
export const builtInRules: readonly BuiltInRule[] = files.map(ruleOf)

/** Texts that these rules find secrets in. */
export const examples: readonly string[] = files.flatMap(({ positives }) => positives)
