import { defaultGuard } from '../mcp/guard.js'
import type { Guard } from '../mcp/redact.js'
import { createProposalFoldWith, type ProposalFold } from './proposal-fold.js'

/** The same, without the usual secrets. In a file of its own: whoever names a guard does without the rules. */
export const createProposalFold = (guard: Guard = defaultGuard): ProposalFold => createProposalFoldWith(guard)
