import { addSetting } from './add-setting.ts';

/** Whether callers of a route get the 103 Early Hints of its upstream. */
export const up = addSetting('routes', 'early_hints');
