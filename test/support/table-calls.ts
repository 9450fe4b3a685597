import { onTestFinished } from 'vitest'
// Before any test replaces a client's calls.
import '../../sandbox/aws/sdk.ts'
import { table } from '../../shared/store/table.ts'

/**
 * Passes each call of the table through `around`, with the name of its command: `Get`, `Put`, ... until the
 * end of the test.
 * @param around `text` returns the command as JSON
 * @returns ends it earlier
 */
export const aroundTableCalls = (
  around: (name: string, next: () => Promise<unknown>, text: () => string) => Promise<unknown>,
): (() => void) => {
  const { send } = table
  const call = send.bind(table) as (command: object) => Promise<unknown>
  table.send = ((command: object) => {
    const name = command.constructor.name.replace('Command', '')
    return around(
      name,
      () => call(command),
      () => JSON.stringify(command),
    )
  }) as typeof send
  const restore = () => {
    table.send = send
  }
  onTestFinished(restore)
  return restore
}
