/** Whether stdin and stderr are a terminal, so that the user can be asked. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Asks on stderr, because stdout has the results. Enter and Escape mean no. */
export async function askConfirmation(message: string): Promise<boolean> {
  const { confirm } = await import('@clack/prompts')
  return (await confirm({ message, initialValue: false, output: process.stderr })) === true
}
