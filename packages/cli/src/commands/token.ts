import type { Command } from 'commander'
import type { TokenVerb } from '../operator/change-token.js'
import type { TokenFlags } from '../operator/token.js'

const verbs: Record<TokenVerb, { readonly argument: string; readonly description: string }> = {
  create: {
    argument: '[participant]',
    description: 'make a token for a participant, or for all who never had one',
  },
  rotate: {
    argument: '<participant>',
    description: 'replace a token; connections made with the old one are closed',
  },
  revoke: {
    argument: '<participant>',
    description: 'take a token away for good; connections made with it are closed',
  },
}

/** `meup token …`. What they need is loaded when they run. */
export function addToken(program: Command): void {
  const group = program
    .command('token')
    .description('make, replace, take away and list the tokens of participants')
    .addHelpText(
      'after',
      '\nA token says who somebody is. Each lies in .meup/tokens/<participant> beside the configuration.' +
        '\nA gateway that runs here follows at once; it also reads its configuration again then.',
    )
  for (const verb of ['create', 'rotate', 'revoke'] as const) {
    const command = withFlags(group.command(verb), verb === 'revoke')
    command
      .description(verbs[verb].description)
      .argument(verbs[verb].argument, 'whose token')
      .action(async (participant: string | undefined, flags: TokenFlags) => {
        const { runTokenChange } = await import('../operator/token.js')
        await runTokenChange(verb, participant, flags)
      })
  }
  withFlags(group.command('list').alias('ls'), true)
    .description('show who has a token, where it lies, and what is wrong with it')
    .argument('[participant]', 'whose token')
    .action(async (participant: string | undefined, flags: TokenFlags) => {
      const { listTokens } = await import('../operator/token.js')
      listTokens(participant, flags)
    })
}

function withFlags(command: Command, isMute: boolean): Command {
  command
    .option('--config <file>', 'configuration', 'space.yaml')
    .option('--space <name>', 'space, where the configuration has several')
    .option('--json', 'print one JSON object')
  if (!isMute) command.option('--show', 'print the token itself')
  return command
}
