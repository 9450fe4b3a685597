import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import { changeBank } from '../../../shared/store/banks/banks.ts'
import { putCredential } from '../../../shared/store/providers/credentials.ts'
import { changeProvider } from '../../../shared/store/providers/providers.ts'
import { putSweepProgress } from '../../../shared/store/sweep-progress.ts'
import { changeWebhook } from '../../../shared/store/webhooks/webhooks.ts'
import { demoProvider, gcb, NOON } from '../examples.ts'

/** A provider with a webhook, and a bank, under the credentials of the sample events. */
export const plant = async (webhook: Webhook): Promise<void> => {
  const createdAt = NOON.toISOString()
  await Promise.all([
    changeBank(gcb.identifier, () => gcb),
    changeProvider(demoProvider.id, () => demoProvider),
    putCredential('sk_sandbox_demo', { kind: 'provider', owner: demoProvider.id, createdAt }),
    putCredential('bt_sandbox_gcb', { kind: 'bank', owner: gcb.identifier, createdAt }),
    changeWebhook(demoProvider.id, () => webhook),
    putSweepProgress({ until: NOON }),
  ])
}
