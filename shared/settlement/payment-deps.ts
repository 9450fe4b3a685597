import { payoutConnectors } from '../banks/registry.ts'
import { environment, type Runtime } from '../runtime.ts'
import { findConnectorSettings } from '../store/banks/connector-settings.ts'
import type { PaymentDeps } from './pay.ts'

/** A question and an instruction after it must both end inside a function's own time. */
const EXCHANGE_SECONDS = 10

/** What payments need of the world around them. */
export const paymentDeps = (runtime: Runtime): PaymentDeps => ({
  runtime,
  connectors: payoutConnectors({
    settingsOf: findConnectorSettings,
    now: runtime.now,
    timeoutSeconds: EXCHANGE_SECONDS,
    localPeers: environment.localPeers,
  }),
})
