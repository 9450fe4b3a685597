// Before any test replaces a client's calls.
import '../../sandbox/aws/sdk.ts'
import { table } from '../../shared/store/table.ts'

/** Passes each call of the table through `around`, with the name of its command: `Get`, `Put`, ... */
export const aroundTableCalls = (
  around: (name: string, next: () => Promise<unknown>) => Promise<unknown>,
): (() => void) => {
  const { send } = table
  const call = send.bind(table) as (command: object) => Promise<unknown>
  table.send = ((command: { constructor: { name: string } }) =>
    around(command.constructor.name.replace('Command', ''), () => call(command))) as typeof send
  return () => {
    table.send = send
  }
}
