import { settlementConnectors } from '../banks/registry.ts'
import { environment, type Runtime } from '../runtime.ts'
import { findConnectorSettings } from '../store/banks/connector-settings.ts'
import type { World } from './pay.ts'

/** A question and an instruction after it must both end inside a function's own time. */
const EXCHANGE_SECONDS = 10

/** What payments need of the world around them. */
export const worldOf = (runtime: Runtime): World => ({
  runtime,
  connectors: settlementConnectors({
    settingsOf: findConnectorSettings,
    now: runtime.now,
    exchangeSeconds: EXCHANGE_SECONDS,
    localPeers: environment.localPeers,
  }),
})
