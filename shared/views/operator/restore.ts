import type { Shows } from '../../domain/complete.ts'
import { isHeldBy, type Restore } from '../../domain/operator/restore.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { iso } from '../../domain/time.ts'

export type RestoreResult = ReturnType<typeof restoreView>

export const restoreView = (restore: Restore | undefined, providers: readonly ProviderId[]) =>
  ({
    generation: restore?.generation ?? 1,
    begun_at: iso(restore?.begunAt ?? null),
    by: restore?.by ?? null,
    released_at: iso(restore?.releasedAt ?? null),
    released: restore?.released ?? [],
    held: providers.filter((id) => isHeldBy(restore, id)),
  }) satisfies Shows<Restore>
