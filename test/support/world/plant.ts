import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import { real } from '../../../shared/runtime.ts'
import { changeBank } from '../../../shared/store/banks/banks.ts'
import { putCredential } from '../../../shared/store/providers/credentials.ts'
import { changeProvider } from '../../../shared/store/providers/providers.ts'
import { noWrites } from '../../../shared/store/settings.ts'
import { putSweepProgress } from '../../../shared/store/sweep-progress.ts'
import { changeWebhook } from '../../../shared/store/webhooks/webhooks.ts'
import { demoProvider, gcb, NOON } from '../examples.ts'

/** A provider with a webhook, and a bank, under the credentials of the sample events. */
export const plant = async (webhook: Webhook): Promise<void> => {
  const createdAt = NOON.toISOString()
  await Promise.all([
    changeBank(gcb.identifier, () => gcb, noWrites, real),
    changeProvider(demoProvider.id, () => demoProvider, noWrites, real),
    putCredential(
      'sk_sandbox_demo',
      { kind: 'provider', owner: demoProvider.id, createdAt },
      [],
      real,
    ),
    putCredential('bt_sandbox_gcb', { kind: 'bank', owner: gcb.identifier, createdAt }, [], real),
    changeWebhook(demoProvider.id, () => webhook, noWrites, real),
    putSweepProgress({ until: NOON }),
  ])
}
