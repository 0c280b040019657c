import { type DetailsOf, fillIn } from '@meup/protocol'
import { notConfiguredError } from '../client/errors.js'

/** The option that is missing or wrong, with the message: what happened, with the value, and then what to do. */
export const optionTexts = {
  gateway: ['url', 'the gateway is not known. Set MEUP_URL, or start one here with meup up.'],
  space: [
    'space',
    'the space at {url} is not known. Name it with `space`, MEUP_SPACE or, for a command, --space.',
  ],
  spaceElsewhere: [
    'space',
    'the space at {url} is not known, because the gateway of this folder is at {running}. Correct the address, or name the space with `space`, MEUP_SPACE or, for a command, --space.',
  ],
  token: [
    'token',
    'there is no token of {as} in {file}. If {as} is in space.yaml, make it with meup token create {as}.',
  ],
  participant: [
    'as',
    'the participant is not known. Choose one of {known} with `as`, MEUP_PARTICIPANT or, for a command, --as.',
  ],
  transcript: ['transcript', 'transcript is {given}. Set one of {modes}.'],
  sqlite: [
    'transcript',
    "a transcript needs the package better-sqlite3, which cannot be loaded. Run npm install better-sqlite3 next to @meup/agent-sdk, or set transcript: 'off'.",
  ],
  compiledSqlite: [
    'transcript',
    "a transcript needs the package better-sqlite3, which cannot be loaded. Install python3, make and a C++ compiler, then run npm install better-sqlite3@12 next to @meup/agent-sdk, or set transcript: 'off'.",
  ],
  ai: [
    'model',
    'an agent with a language model needs the package ai. Install version 7 of it next to @meup/agent-sdk.',
  ],
  compatible: [
    'baseURL',
    'a model at a baseURL needs the package {name}. Install it next to @meup/agent-sdk.',
  ],
  vendor: ['model', 'there is no model {name}. Install {vendor} here, or set AI_GATEWAY_API_KEY.'],
  unknownVendor: ['model', '{vendor} has no models that are known here. Choose another vendor.'],
  unnamedVendor: ['model', '{name} names no vendor. Name a model as vendor/name.'],
  modelObject: ['model', 'a baseURL does not go with a model object. Give the name of a model there.'],
  /** Does not quote the address, which contains a password. */
  secretInAddress: [
    'baseURL',
    'the baseURL contains a name or a password. Give the apiKey, or the header authorization in the settings.',
  ],
  baseURL: ['baseURL', 'the baseURL {given} is not an address. Begin it with http:// or https://.'],
} as const satisfies Readonly<Record<string, readonly [option: string, text: string]>>

/** The error for an option or a setting of the environment in Node. */
export function optionError<Name extends keyof typeof optionTexts>(
  name: Name,
  details: DetailsOf<(typeof optionTexts)[Name][1]>,
  options?: ErrorOptions,
) {
  const [option, text]: readonly [option: string, text: string] = optionTexts[name]
  return notConfiguredError(option, fillIn<string>(text, details), options)
}
