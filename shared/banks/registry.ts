import type { ConnectorName } from '../domain/banks/bank.ts'
import type { ConnectionConfig, Connector, ConnectorConfig } from './connector.ts'
import { httpConnector } from './http.ts'
import { httpPayouts } from './http-payouts.ts'
import type { PayoutConnector } from './payout-connector.ts'
import { sandboxConnector } from './sandbox.ts'
import { sandboxPayouts, sandboxRefund } from './sandbox-payouts.ts'

type Connected = Exclude<ConnectorName, 'none'>

/** Every connector there is, by the name that banks are registered with. */
export const connectors = (wiring: ConnectorConfig): Record<Connected, Connector> => ({
  sandbox: sandboxConnector(wiring),
  http: httpConnector(wiring),
})

/** The outcome queries of the banks that can be asked. The sandbox bank cannot. */
export const outcomeQueries = (
  reach: ConnectionConfig,
): Partial<Record<Connected, Connector['queryOutcome']>> => ({
  http: httpConnector(reach).queryOutcome,
})

/** The refunds of the banks that take them. */
export const refundOperations = (
  reach: ConnectionConfig,
): Partial<Record<Connected, NonNullable<Connector['refund']>>> => ({
  sandbox: sandboxRefund,
  http: httpConnector(reach).refund,
})

/** What has providers paid, by the connector of the bank that holds their account. */
export const payoutConnectors = (reach: ConnectionConfig): Record<Connected, PayoutConnector> => ({
  sandbox: sandboxPayouts,
  http: httpPayouts(reach),
})
