import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { Uuid } from '../domain/ids.ts'
import { Refusal } from '../domain/refusal.ts'
import { bankUrl } from './bank-url.ts'
import { type ConnectionConfig, ConnectorFault } from './connector.ts'
import { type BankResponse, sendBankRequest } from './request.ts'

export type IdempotentPost = {
  path: '/submissions' | '/settlements' | '/refunds'
  uuid: Uuid
  /** The bank may have received it before. */
  repeated: boolean
  body: object
}

/**
 * Sends a debit, payout or refund, which the bank deduplicates by uuid. Queries the bank first if it
 * may have received it before.
 * @throws ConnectorFault without a complete response
 */
export const postIdempotently = async (
  bank: BankIdentifier,
  { path, uuid, repeated, body }: IdempotentPost,
  config: ConnectionConfig,
): Promise<BankResponse> => {
  const send = await bankClient(bank, config)
  // Unlike a second POST, a query never has an effect.
  const earlier = repeated ? await send('GET', `${path}/${uuid}`) : undefined
  if (earlier && earlier.status !== NOT_RECEIVED) return earlier
  return send('POST', path, {
    headers: { 'x-idempotency-key': uuid },
    body: JSON.stringify(body),
  })
}

/** @throws ConnectorFault without a complete response */
export const queryBank = async (bank: BankIdentifier, path: string, config: ConnectionConfig) => {
  const send = await bankClient(bank, config)
  return send('GET', path)
}

export const NOT_RECEIVED = 404

type Send = (
  method: 'GET' | 'POST',
  path: string,
  content?: { headers: Record<string, string>; body: string },
) => Promise<BankResponse>

/** Returns a function that sends with the bank's current settings. */
const bankClient = async (bank: BankIdentifier, config: ConnectionConfig): Promise<Send> => {
  const settings = await config.settingsOf(bank)
  if (!settings) throw new ConnectorFault(2001, `bank ${bank} has no connector settings`)
  const url = bankUrl(settings.url, config)
  if (url instanceof Refusal) throw new ConnectorFault(2001, `the URL of bank ${bank} is refused`)
  return (method, path, content) =>
    sendBankRequest({
      method,
      url: `${url}${path}`,
      ...content,
      secret: settings.secret,
      at: config.now(),
      timeoutSeconds: config.timeoutSeconds,
    })
}
