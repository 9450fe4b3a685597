import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { Uuid } from '../domain/ids.ts'
import { Refusal } from '../domain/refusal.ts'
import { bankUrl } from './bank-url.ts'
import type { ConnectionConfig } from './connector.ts'
import { ConnectorFault } from './connector-fault.ts'
import { type BankResponse, sendBankRequest } from './request.ts'

/** A request to a bank with an endpoint of its own: a debit, a payment or a refund. */
export type IdempotentPost = {
  path: '/submissions' | '/settlements' | '/refunds'
  uuid: Uuid
  /** The bank may have it already. */
  repeated: boolean
  body: object
}

/**
 * Hands it to the bank under its uuid, so that it has one effect however often this is done.
 * @returns what the bank answers, to an earlier time if there was one
 * @throws ConnectorFault when no whole answer came
 */
export const postIdempotently = async (
  bank: BankIdentifier,
  { path, uuid, repeated, body }: IdempotentPost,
  reach: ConnectionConfig,
): Promise<BankResponse> => {
  const send = await bankClient(bank, reach)
  // Unlike a second hand-over, a question can have no effect, whatever became of the first.
  const earlier = repeated ? await send('GET', `${path}/${uuid}`) : undefined
  if (earlier && earlier.status !== NOT_RECEIVED) return earlier
  return send('POST', path, {
    headers: { 'x-idempotency-key': uuid },
    body: JSON.stringify(body),
  })
}

/**
 * Asks the bank about something that it may have.
 * @throws ConnectorFault when no whole answer came
 */
export const queryBank = async (
  bank: BankIdentifier,
  path: string,
  reach: ConnectionConfig,
): Promise<BankResponse> => {
  const send = await bankClient(bank, reach)
  return send('GET', path)
}

export const NOT_RECEIVED = 404

type Send = (
  method: 'GET' | 'POST',
  path: string,
  more?: { headers: Record<string, string>; body: string },
) => Promise<BankResponse>

/** Returns a function that sends to a bank with its current settings. */
const bankClient = async (bank: BankIdentifier, reach: ConnectionConfig): Promise<Send> => {
  const settings = await reach.settingsOf(bank)
  if (!settings) throw new ConnectorFault(2001, `bank ${bank} has no connector settings`)
  const url = bankUrl(settings.url, reach)
  if (url instanceof Refusal) throw new ConnectorFault(2001, `the URL of bank ${bank} is refused`)
  return (method, path, more) =>
    sendBankRequest({
      method,
      url: `${url}${path}`,
      ...more,
      secret: settings.secret,
      at: reach.now(),
      timeoutSeconds: reach.timeoutSeconds,
    })
}
