import { expect, test } from 'vitest'
import { installAgent } from '../support/coding-agents/install.js'
import { runExample } from '../support/examples.js'
