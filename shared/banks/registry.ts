import type { ConnectorName } from '../domain/banks/bank.ts'
import type { ConnectionConfig, Connector, ConnectorConfig, PaymentConnector } from './connector.ts'
import { httpConnector } from './http.ts'
import { httpPayments } from './http-payments.ts'
import { sandboxConnector, sandboxPayments } from './sandbox.ts'

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

export const paymentConnectors = (
  config: ConnectionConfig,
): Record<Connected, PaymentConnector> => ({
  sandbox: sandboxPayments(config),
  http: httpPayments(config),
})
