/** Whether a person at a terminal can be asked. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Asks on stderr: stdout has results. Leaving the question is a no, which is also what Enter gives. */
export async function askConfirmation(message: string): Promise<boolean> {
  const { confirm } = await import('@clack/prompts')
  return (await confirm({ message, initialValue: false, output: process.stderr })) === true
}
