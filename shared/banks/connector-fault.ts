import { type ErrorCode, errors } from '../domain/refusal.ts'

/** What can go wrong between the service and a bank (specification, Codes, 2000-2999). */
export type ConnectorCode = Extract<ErrorCode, 2001 | 2002 | 2408 | 2500 | 2502>

/**
 * A submission or a payment whose result is not known: thrown, so that its message comes again.
 * Providers never see the code, because their charge was answered long before; it stands in the log.
 */
export class ConnectorFault extends Error {
  override readonly name = 'ConnectorFault'
  readonly code: ConnectorCode

  constructor(code: ConnectorCode, reason: string) {
    super(`${errors[code].message}: ${reason}`)
    this.code = code
  }
}
