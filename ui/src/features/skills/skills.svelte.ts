import type { SkillLine, SkillList, SkillOffered, ToldReview } from '$host/bindings';
import { HostError, type Host } from '$host/host';

/** A skill that a person looks through: one that was dropped, or one that lies in a place already. */
export type Looking = { review: ToldReview } & ({ offer: number; path: string } | { folder: string; place: string });

/** The skills of this machine, and what the person is asked about them. Mirrors the backend. */
export class SkillsModel {
  list = $state.raw<SkillList | null>(null);
  error = $state.raw<HostError | null>(null);
  /** What the dialog shows. */
  looking = $state.raw<Looking | null>(null);
  /** Files are held over the window. */
  over = $state(false);
  /** What was dropped besides, and waits for its turn. */
  private waiting: Looking[] = [];
  private wanted = false;

  constructor(
    private readonly host: Host,
    private readonly refuse: (error: HostError) => void,
  ) {}

  /** Listens to what is dropped and to what changes on the disk. */
  start(listen: (listening: Promise<() => void>) => void): void {
    listen(this.host.onSkillOffered((offered) => this.offered(offered)));
    listen(this.host.onDropHovers((over) => (this.over = over)));
    listen(this.host.onSkillsChanged(() => this.wanted && void this.load()));
  }

  async load(): Promise<void> {
    this.wanted = true;
    try {
      this.list = await this.host.listSkills();
      this.error = null;
    } catch (thrown) {
      this.error = HostError.from(thrown);
    }
  }

  /** Shows what is in a skill that lies in one of the places. */
  async look(line: SkillLine): Promise<void> {
    const review = await this.host.reviewSkill(line.folder);
    this.show({ review, folder: line.folder, place: line.place });
  }

  /** Says yes to exactly what the dialog shows. */
  async agree(): Promise<void> {
    const looking = this.looking;
    if (!looking) return;
    const seen = looking.review.hash;
    this.list = 'offer' in looking ? await this.host.installSkill(looking.offer, seen) : await this.host.approveSkill(looking.folder, seen);
    this.next();
  }

  /** Puts the dialog away; what was dropped leaves no trace. */
  async leave(): Promise<void> {
    const looking = this.looking;
    this.next();
    if (looking && 'offer' in looking) await this.host.declineSkill(looking.offer);
  }

  async remove(name: string): Promise<void> {
    this.list = await this.host.removeSkill(name);
  }

  private offered({ path, offer, review, refused }: SkillOffered): void {
    if (review && offer !== null) this.show({ review, offer, path });
    else if (refused) this.refuse(new HostError('usage', refused[0], refused[1]));
  }

  private show(looking: Looking): void {
    if (this.looking) this.waiting.push(looking);
    else this.looking = looking;
  }

  private next(): void {
    this.looking = this.waiting.shift() ?? null;
  }
}
