import type { Command } from 'commander'

/** `meup space …`. What they need is loaded when they run. */
export function addSpace(program: Command): void {
  const group = program.command('space').description('write and check the configuration of a space')
  group
    .command('init')
    .description('write a first space.yaml, with you and an agent in it; never over another one')
    .argument('[folder]', 'where; it is made if need be', '.')
    .option('--json', 'print one JSON object')
    .action(async (folder: string, flags: { json?: boolean }) => {
      const { initSpace } = await import('../operator/space.js')
      initSpace(folder, flags)
    })
  group
    .command('validate')
    .description('check a configuration: every mistake with its line and column, or what would run')
    .option('--config <file>', 'configuration', 'space.yaml')
    .option('--json', 'print one JSON object')
    .action(async (flags: { config: string; json?: boolean }) => {
      const { validateSpace } = await import('../operator/space.js')
      validateSpace(flags)
    })
}
