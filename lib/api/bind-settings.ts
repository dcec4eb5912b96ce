import { previewSetting } from '#lib/queue/setting-preview'
import { listSettings, readSettingView } from '#lib/queue/setting-view'
import { putSetting } from '#lib/queue/setting-write'
import { type Bindings, ok } from './call'

/** What admins do with settings. */
export const SETTING_BINDINGS: Bindings<'getSettings' | 'putSetting' | 'previewSetting'> = {
  getSettings: async ({ core }) => ok({ settings: await listSettings(core.database) }),
  putSetting: async ({ core, caller, params, body }) => {
    await putSetting(core.database, params.key, body, caller)
    return ok({ setting: await readSettingView(core.database, params.key) })
  },
  previewSetting: async ({ core, params, query }) => ok(await previewSetting(core.database, params.key, query.value)),
}
