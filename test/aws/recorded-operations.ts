import { setTimeout as pause } from 'node:timers/promises'
import { answerCalls, type Command, clients } from '../../aws/sdk.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { openGateway } from '../../sandbox/gateway.ts'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { chargeBody, FAILS_AT_ONCE, sampleEvent } from '../support/running-service.ts'
import { type Operation, TABLE } from './random-operation.ts'
import { commands, renamed } from './two-tables.ts'

/** Divides the 30 s of the sandbox bank. */
const TIME_SCALE = 60
const OUTCOME_MS = 2_000

/** Returns the table's operations of a sandbox: its seeds, all samples, debits and two settlements. */
export const recordedOperations = async (): Promise<Operation[]> => {
  const operations: Operation[] = []
  const { send } = clients
  clients.send = function (this: typeof clients, command: Command, ...rest) {
    const { name } = command.constructor
    // Both tables follow the pages of a query themselves.
    if (name in commands && !('ExclusiveStartKey' in command.input)) {
      operations.push({ command: name, input: structuredClone(command.input) })
    }
    return send.call(this, command, ...rest)
  }
  const sandbox = await startSandbox({
    gateway: await openGateway(0),
    timeScale: TIME_SCALE,
    print: () => undefined,
    endpoints: {},
  })
  const { invoke } = sandbox.functions
  const settle = (days: number) => {
    const date = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    return invoke('manage-settlement', { verb: 'run', options: { date, provider: 'demo' } })
  }
  const charge = async (fields: Record<string, unknown>): Promise<string> => {
    const body = JSON.stringify(chargeBody(fields))
    const reply = await invoke('charge', { ...(await sampleEvent('charge')), body })
    return JSON.parse((reply as { body: string }).body).data.reference
  }
  const references = [
    await charge({}),
    await charge({}),
    await charge({ phone_number: FAILS_AT_ONCE }),
  ]
  await pause(OUTCOME_MS)
  await settle(1)
  const options = { reference: references[0], reason: 'Dispute' }
  await invoke('manage-debit', { verb: 'reverse', options })
  await settle(2)
  for (const { name } of functionRows) await invoke(name, await sampleEvent(name))
  await pause(OUTCOME_MS)
  await sandbox.stop()
  answerCalls(() => undefined)
  clients.send = send
  const name = process.env.TABLE_NAME ?? ''
  return operations.map((operation) => renamed(operation, name, TABLE) as Operation)
}
