import { existsSync, statSync } from 'node:fs'
import { suggest } from '@meup/folds'
import { Command, Option } from 'commander'
import { addHelp } from './command-help.js'
import { addAcp } from './commands/acp.js'
import { addAsk } from './commands/ask.js'
import { addAudit } from './commands/audit.js'
import { addCall } from './commands/call.js'
import { addCaps } from './commands/caps.js'
import { addCompletion } from './commands/completion.js'
import { addErase } from './commands/erase.js'
import { addJoin } from './commands/join.js'
import { addMan } from './commands/man.js'
import { addMcp } from './commands/mcp.js'
import { addMembers } from './commands/members.js'
import { addOpen } from './commands/open.js'
import {
  addAdd,
  addBackup,
  addDoctor,
  addInit,
  addRestart,
  addRunCommands,
  addRunning,
  addSpace,
  addStats,
  addToken,
  addWork,
} from './commands/operator.js'
import { addProposals } from './commands/proposals.js'
import { addReasoning } from './commands/reasoning.js'
import { addReplay } from './commands/replay.js'
import { addSearch } from './commands/search.js'
import { addSend } from './commands/send.js'
import { addTranscript } from './commands/transcript.js'
import { addWatch } from './commands/watch.js'
import { addWhy } from './commands/why.js'
import { exitCodes } from './failure/exit-codes.js'
import { printErrorJson, printsJson, UsageError } from './lib/exit.js'

function changeDirectory(folder: string | undefined): void {
  if (folder === undefined) return
  if (!existsSync(folder)) throw new UsageError('no_folder', { folder })
  if (!statSync(folder).isDirectory()) throw new UsageError('not_a_folder', { path: folder })
  process.chdir(folder)
}

/** All commands of `meup`. */
export function createProgram(): Command {
  const program = new Command('meup')
    .description('Run a MEUP space, join it, watch it.')
    .version('0.1.0')
    .option('-C <folder>', 'do everything in this folder')
    .hook('preAction', (command) => changeDirectory(command.opts().C))
    .exitOverride()
    .configureOutput({
      // Suppresses the help hint, which is not JSON.
      writeErr: (text) => void (printsJson() || process.stderr.write(text)),
      outputError: (text, write) => {
        const said = suggestHidden(text).replace(/^error: /, '')
        if (printsJson()) printErrorJson('usage', said.trim(), exitCodes.usage)
        else write(`meup: ${said}`)
      },
    })

  addInit(program)
  addAdd(program)
  addRunCommands(program)
  addRestart(program)
  addRunning(program)
  addWork(program)
  addJoin(program)
  addOpen(program)
  addWatch(program)
  addSend(program)
  addAsk(program)
  addCall(program)
  addProposals(program)
  addCaps(program)
  addMembers(program)
  addReasoning(program)
  addWhy(program)
  addSearch(program)
  addAudit(program)
  addErase(program)
  addTranscript(program)
  addReplay(program)
  addMcp(program)
  addAcp(program)
  addSpace(program)
  addToken(program)
  addBackup(program)
  addStats(program)
  addDoctor(program)
  addCompletion(program)
  addMan(program)
  addHelp(program)
  helpWithErrors(program, program.name())
  return program
}

/** Suggests `--verbose` for a similar option: commander only suggests options that are in the help. */
function suggestHidden(text: string): string {
  const [, option = ''] = /^error: unknown option '(--[^']+)'/.exec(text) ?? []
  const isMeant = suggest(option, ['--verbose', '--version']) === '--verbose'
  return isMeant ? text.replace(/\n(\(Did you mean .*\)\n)?$/, '\n(Did you mean --verbose?)\n') : text
}

/** Adds to every command a hint at its help, and a hidden `--verbose` that prints an error's stack. */
function helpWithErrors(command: Command, path: string): void {
  command.showHelpAfterError(`(${path} --help tells more)`)
  for (const each of command.commands) helpWithErrors(each, `${path} ${each.name()}`)
  const isThere = command.options.some(({ long }) => long === '--verbose')
  if (command.commands.length === 0 && !isThere)
    command.addOption(new Option('--verbose', 'with the stack of an error').hideHelp())
}
