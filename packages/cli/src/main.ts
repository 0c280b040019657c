#!/usr/bin/env node
import { CommanderError } from 'commander'
import { exitCodes } from './failure/exit-codes.js'
import { endWithReader } from './lib/closed-output.js'
import { reportError } from './lib/exit.js'
import { createProgram } from './program.js'

endWithReader()

try {
  await createProgram().parseAsync()
  process.exitCode ??= exitCodes.ok
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  } else {
    reportError(error)
  }
}
