import type { ConnectorName } from '../domain/banks/bank.ts'
import type { Connector, Reach, Wiring } from './connector.ts'
import { httpConnector } from './http.ts'
import { httpSettlement } from './http-payouts.ts'
import type { SettlementConnector } from './payout-connector.ts'
import { sandboxConnector } from './sandbox.ts'
import { sandboxRefund, sandboxSettlement } from './sandbox-payouts.ts'

type Connected = Exclude<ConnectorName, 'none'>

/** Every connector there is, by the name that banks are registered with. */
export const connectors = (wiring: Wiring): Record<Connected, Connector> => ({
  sandbox: sandboxConnector(wiring),
  http: httpConnector(wiring),
})

/** The outcome queries of the banks that can be asked. The sandbox bank cannot. */
export const outcomeQueries = (
  reach: Reach,
): Partial<Record<Connected, Connector['queryOutcome']>> => ({
  http: httpConnector(reach).queryOutcome,
})

/** The refunds of the banks that take them. */
export const refundOperations = (
  reach: Reach,
): Partial<Record<Connected, NonNullable<Connector['refund']>>> => ({
  sandbox: sandboxRefund,
  http: httpConnector(reach).refund,
})

/** What has providers paid, by the connector of the bank that holds their account. */
export const settlementConnectors = (reach: Reach): Record<Connected, SettlementConnector> => ({
  sandbox: sandboxSettlement,
  http: httpSettlement(reach),
})
