import type { ConnectorName } from '../domain/banks/bank.ts'
import type { ConnectionConfig, Connector, ConnectorConfig, PayoutConnector } from './connector.ts'
import { httpConnector } from './http.ts'
import { httpPayouts } from './http-payouts.ts'
import { sandboxConnector, sandboxPayouts, sandboxRefund } from './sandbox.ts'

type Connected = Exclude<ConnectorName, 'none'>

export const connectors = (config: ConnectorConfig): Record<Connected, Connector> => ({
  sandbox: sandboxConnector(config),
  http: httpConnector(config),
})

/** The sandbox bank has no outcome query. */
export const outcomeQueries = (
  config: ConnectionConfig,
): Partial<Record<Connected, Connector['queryOutcome']>> => ({
  http: httpConnector(config).queryOutcome,
})

export const refundOperations = (
  config: ConnectionConfig,
): Partial<Record<Connected, NonNullable<Connector['refund']>>> => ({
  sandbox: sandboxRefund,
  http: httpConnector(config).refund,
})

export const payoutConnectors = (config: ConnectionConfig): Record<Connected, PayoutConnector> => ({
  sandbox: sandboxPayouts,
  http: httpPayouts(config),
})
