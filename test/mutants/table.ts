import { admission } from './admission.js'
import { agUi } from './ag-ui.js'
import { capabilities } from './capabilities.js'
import { codingAgents } from './coding-agents.js'
import { commands } from './commands.js'
import { folds } from './folds.js'
import type { Mutant } from './mutant.js'
import { page } from './page.js'
import { programs } from './programs.js'
import { resume } from './resume.js'
import { safety } from './safety.js'
import { sdk } from './sdk.js'
import { storage } from './storage.js'
import { toolServers } from './tool-servers.js'

export const mutants: readonly Mutant[] = [
  ...capabilities,
  ...admission,
  ...storage,
  ...programs,
  ...resume,
  ...folds,
  ...sdk,
  ...safety,
  ...page,
  ...commands,
  ...toolServers,
  ...codingAgents,
  ...agUi,
]
