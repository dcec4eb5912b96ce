import { keepPreviousData, mutationOptions, queryOptions } from '@tanstack/react-query'
import type { SettingKey } from '#lib/model/settings'
import type { AnswerOf } from '#lib/sdk/client'
import { api } from './client'
import { KEYS } from './keys'

/** Every setting, as stored and as in force; fetched anew when the stream tells of a change. */
export const settings = queryOptions({
  queryKey: KEYS.settings,
  queryFn: async ({ signal }) => (await api.getSettings({}, { signal })).settings,
})

/** What the next sweep would do were this text stored. It is about now, so it is never kept for later. */
export function previewOf(key: SettingKey, value: string) {
  return queryOptions({
    queryKey: KEYS.preview(key, value),
    queryFn: ({ signal }) => api.previewSetting({ key, value }, { signal }),
    staleTime: 0,
    gcTime: 0,
    placeholderData: keepPreviousData,
  })
}

/** Stores a setting's text, or null for the default; `version` is that of the setting it replaces. Refused with `version_conflict`, the settings are fetched anew. */
export const putSetting = mutationOptions({
  mutationKey: ['setting', 'put'],
  mutationFn: (given: { key: SettingKey; value: string | null; version: number }) => api.putSetting(given),
  onSuccess: ({ setting }, _given, _result, { client }) => {
    client.setQueryData<AnswerOf<'getSettings'>['settings']>(KEYS.settings, (all) =>
      all?.map((one) => (one.key === setting.key ? setting : one)),
    )
    void client.invalidateQueries({ queryKey: KEYS.openPrompts })
  },
  onError: (_error, _given, _result, { client }) => client.invalidateQueries({ queryKey: KEYS.settings, exact: true }),
})
