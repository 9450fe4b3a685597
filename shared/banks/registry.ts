import type { ConnectorName } from '../domain/bank.ts'
import type { Connector, Wiring } from './connector.ts'
import { httpConnector } from './http.ts'
import { sandboxConnector } from './sandbox.ts'

type Connected = Exclude<ConnectorName, 'none'>

/** Every connector there is, by the name that banks are registered with. */
export const connectors = (wiring: Wiring): Record<Connected, Connector> => ({
  sandbox: sandboxConnector(wiring),
  http: httpConnector(wiring),
})
