import { type ErrorCode, errors } from '../domain/refusal.ts'

/** Faults between the service and a bank (docs/api.md#bank-connectors). */
export type ConnectorCode = Extract<ErrorCode, 2001 | 2002 | 2408 | 2500 | 2502>

/** An unknown result: SQS redelivers the message. The code is only logged. */
export class ConnectorFault extends Error {
  override readonly name = 'ConnectorFault'
  readonly code: ConnectorCode

  constructor(code: ConnectorCode, reason: string) {
    super(`${errors[code].message}: ${reason}`)
    this.code = code
  }
}
