import type { Backup, Stage, StageBackup } from './stages.ts'

/** What a stage can be restored from. */

export const backupOf = ({ backup }: { backup?: StageBackup }): Backup | undefined =>
  backup && 'keepDays' in backup ? backup : undefined

/** Days of point-in-time recovery. */
const RECOVERY_DAYS = 35

/** Returns the days for which an earlier state of the table can be restored. */
export const restorableDaysOf = (stage: { backup?: StageBackup }): number =>
  Math.max(RECOVERY_DAYS, backupOf(stage)?.keepDays ?? 0)

/** Returns the Region of the copies if it is not the stage's own. */
export const otherRegionOf = (stage: Stage) => {
  const copyRegion = backupOf(stage)?.copyTo?.split(':')[3]
  return copyRegion === stage.region ? undefined : copyRegion
}

/** Returns the Regions with a replica of the sealing key: that of the copies, and the passive one. */
export const replicaRegionsOf = (stage: Stage): string[] => {
  const regions = [otherRegionOf(stage), stage.passive?.region]
  return [...new Set(regions.filter((region) => region !== undefined))]
}
