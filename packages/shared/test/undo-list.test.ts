import { expect, it } from '@jest/globals';
import { UndoList } from './undo-list.ts';

it('a list undoes everything once, the newest first, and throws the first error', async () => {
  const undone: string[] = [];
  const undo = new UndoList();
  undo.add(() => undone.push('first'));
  undo.add(() => Promise.reject(new Error('second fails')));
  undo.add(async () => {
    await Promise.resolve();
    undone.push('third');
  });
  await expect(undo.run()).rejects.toThrow('second fails');
  await undo.run();
  expect(undone).toEqual(['third', 'first']);
});

it('a list undoes what was done before the work failed, and throws the error of the work', async () => {
  const undone: string[] = [];
  const undo = new UndoList();
  const work = async () => {
    undo.add(() => undone.push('started'));
    await Promise.resolve();
    throw new Error('no port');
  };
  await expect(undo.orUndo(work)).rejects.toThrow('no port');
  expect(undone).toEqual(['started']);
  expect(await undo.orUndo(() => Promise.resolve(1))).toBe(1);
});
