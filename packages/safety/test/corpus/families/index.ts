import { addresses } from './addresses.js'
import { cloud } from './cloud.js'
import { code } from './code.js'
import type { Family } from './family.js'
import { keys } from './keys.js'
import { passwords } from './passwords.js'
import { services } from './services.js'
import { vendors } from './vendors.js'

/** Kinds of credentials, by the public documentation of their formats. */
export const families: readonly Family[] = [
  ...cloud,
  ...code,
  ...services,
  ...addresses,
  ...keys,
  ...passwords,
  ...vendors,
]
