//! A disk that keeps what was synced, and of the rest what it pleases.

use std::io;

use submitter::journal::LogFile;
use submitter::pause::{Pause, PauseStore};

use super::dice::Dice;
use super::world::Shared;

/// The state folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    /// The file at the journal's path: its number, and what a process that reads it sees.
    pub(crate) inode: u64,
    pub(crate) cached: Vec<u8>,
    /// How much of it would survive a power cut.
    pub(crate) durable: usize,
    /// The run that holds the lock of the file at the path.
    pub(crate) locked: bool,
}

impl Disk {
    /// What was not synced is lost, kept in part, or replaced by zeros. True: a torn tail.
    pub(crate) fn lose_power(&mut self, dice: &mut Dice) -> bool {
        let loose = self.cached.len() - self.durable;
        let kept = self.durable + usize::try_from(dice.roll(loose as u64 + 1)).unwrap();
        self.cached.truncate(kept);
        if kept > self.durable && dice.chance(200) {
            self.cached[self.durable..].fill(0);
        }
        self.durable = self.cached.len();
        self.cached.last().is_some_and(|byte| *byte != b'\n')
    }
}

/// An open, locked journal.
#[derive(Debug)]
pub(crate) struct SimLog<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) inode: u64,
    /// Set once another file is at the path: what is written here, nobody reads again.
    pub(crate) orphan: Option<Vec<u8>>,
}

fn dead() -> io::Error {
    io::Error::other("the process is dead")
}

impl LogFile for SimLog<'_> {
    fn is_current(&self) -> io::Result<bool> {
        let world = self.shared.world.borrow();
        if world.run.dead { Err(dead()) } else { Ok(world.disk.inode == self.inode) }
    }

    fn append(&mut self, line: &[u8], durable: bool) -> io::Result<()> {
        self.shared.pass_time();
        let mut world = self.shared.world.borrow_mut();
        if !world.effect("crash before write") {
            return Err(dead());
        }
        if world.disk.inode != self.inode {
            self.orphan.get_or_insert_default().extend_from_slice(line);
            return Ok(());
        }
        let disk_fails = world.weather.disk;
        if world.dice.chance(disk_fails) {
            world.coverage.hit("fault disk write short");
            let part = usize::try_from(world.dice.roll(line.len() as u64)).unwrap();
            world.disk.cached.extend_from_slice(&line[..part]);
            return Err(io::ErrorKind::StorageFull.into());
        }
        world.disk.cached.extend_from_slice(line);
        if !durable {
            return Ok(());
        }
        if !world.effect("crash before fsync") {
            return Err(dead());
        }
        if world.dice.chance(disk_fails) {
            world.coverage.hit("fault disk fsync fails");
            return Err(io::Error::other("EIO"));
        }
        world.disk.durable = world.disk.cached.len();
        let stalls = world.weather.clock;
        if world.dice.chance(stalls) {
            world.coverage.hit("fault stall before the intent is durable");
            self.shared.clock.pass(6_000);
        }
        Ok(())
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut world = self.shared.world.borrow_mut();
        if !world.effect("crash before journal replacement") {
            return Err(dead());
        }
        world.disk.cached = bytes.to_vec();
        world.disk.durable = bytes.len();
        world.disk.inode += 1;
        self.inode = world.disk.inode;
        Ok(())
    }

    fn length(&self) -> u64 {
        self.shared.world.borrow().disk.cached.len() as u64
    }
}

/// The pause file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimPause<'a>(pub(crate) &'a Shared);

impl PauseStore for SimPause<'_> {
    fn read(&self) -> Option<Pause> {
        self.0.world.borrow().pause.clone()
    }

    fn write(&self, pause: &Pause) -> io::Result<()> {
        let mut world = self.0.world.borrow_mut();
        if !world.effect("crash before pause write") {
            return Err(dead());
        }
        world.pause = Some(pause.clone());
        Ok(())
    }

    fn remove(&self) -> io::Result<()> {
        self.0.world.borrow_mut().pause = None;
        Ok(())
    }
}
